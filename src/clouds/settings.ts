import type { CloudApi } from '../vendors/vendor.ts'

/** Fixed keys of AWS. */
export type AwsKeys = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

export type AwsSettings = {
  /** The region that signatures are for. Absent: that in the host name. */
  region?: string | undefined
  /** The service that signatures are for. Absent: that in the host name, else `bedrock`. */
  service?: string | undefined
  /** A profile of the shared configuration files. */
  profile?: string | undefined
} & { [Key in keyof AwsKeys]?: string | undefined }

/**
 * `keyFile`: the path of a key file. `credentials`: the content of one. Neither:
 * application-default credentials.
 */
export type GoogleSettings = { keyFile?: string | undefined; credentials?: string | undefined }

/**
 * With a secret: an application. Without: the default credentials, such as a managed identity,
 * whose id `clientId` is.
 */
export type EntraSettings = {
  tenantId?: string | undefined
  clientId?: string | undefined
  clientSecret?: string | undefined
  /** Absent: that of Azure OpenAI. */
  scope?: string | undefined
  /** The URL of the authority in national clouds. */
  authorityHost?: string | undefined
}

/** The authentication of a channel: one of these. */
export type CloudAuth = {
  aws?: AwsSettings | undefined
  google?: GoogleSettings | undefined
  entra?: EntraSettings | undefined
}

/**
 * What a channel says of its cloud. `apis`: of its endpoints. `apiVersion`: of the API
 * `deployments`.
 */
export type CloudSettings = {
  auth?: CloudAuth | undefined
  apis: readonly CloudApi[]
  apiVersion?: string | undefined
}

/** There are no credentials for a call. The message contains no secrets. */
export class CloudAuthError extends Error {
  override name = 'CloudAuthError'
}
