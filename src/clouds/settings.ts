import type { CloudApi } from '../vendors/vendor.ts'

/** Fixed keys of AWS. */
export type AwsKeys = { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined }

export type AwsSettings = {
  /** The region that signatures are for. Absent: that in the host name. */
  region?: string | undefined
  /** The service that signatures are for. Absent: that in the host name, else `bedrock`. */
  service?: string | undefined
  /** A profile of the shared configuration files. */
  profile?: string | undefined
} & { [Key in keyof AwsKeys]?: string | undefined }

/** The authentication of a channel: one of these. */
export type CloudAuth = { aws?: AwsSettings | undefined }

/** What a channel says of its cloud. `apis`: of its endpoints. `apiVersion`: of the API `deployments`. */
export type CloudSettings = { auth?: CloudAuth | undefined; apis: readonly CloudApi[]; apiVersion?: string | undefined }

/** There are no credentials for a call. The message contains no secrets. */
export class CloudAuthError extends Error {
  override name = 'CloudAuthError'
}
