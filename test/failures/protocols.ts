/** The protocols in whose words these tables are written. Laws hold for all there are. */
export const protocolNames = ['chat-completions', 'responses', 'messages'] as const

export type ProtocolName = (typeof protocolNames)[number]
