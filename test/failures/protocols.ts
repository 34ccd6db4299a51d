export { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
