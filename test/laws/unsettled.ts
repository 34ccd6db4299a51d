/** Laws that a pair does not keep yet: file, pair, title, and what breaks them. A row goes when its law holds. */
export const unsettled: readonly { file: string; of: string; law: string; reason: string }[] = []
