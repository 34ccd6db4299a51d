import type { Redaction } from '../redact.ts'

/** What the thread is started with. */
export type ThreadData = Redaction & { folder: string; folderLimitBytes: number }

/** A batch is done. `failure`: why one of its files is not written. */
export type Written = { failure?: string }
