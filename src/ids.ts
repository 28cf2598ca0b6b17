/** Identifiers: UUIDv7 strings, branded so that one kind cannot be handed in for another. */
import { v7, validate } from 'uuid';

declare const brand: unique symbol;
type Id<Kind extends string> = string & { readonly [brand]: Kind };

export type AccountId = Id<'account'>;
export type WorkspaceId = Id<'workspace'>;
export type SessionId = Id<'session'>;
export type ApiTokenId = Id<'apiToken'>;
export type TotpFactorId = Id<'totpFactor'>;
export type PasskeyId = Id<'passkey'>;
export type InvitationId = Id<'invitation'>;
export type AuditEntryId = Id<'auditEntry'>;
export type DataKeyId = Id<'dataKey'>;
export type OutboxMailId = Id<'outboxMail'>;
export type OperationId = Id<'operation'>;
export type ServerId = Id<'server'>;
export type ClusterId = Id<'cluster'>;
export type GitProviderId = Id<'gitProvider'>;
export type ProjectId = Id<'project'>;
export type AnalysisId = Id<'analysis'>;
export type EnvironmentId = Id<'environment'>;
export type DeploymentId = Id<'deployment'>;
export type UploadId = Id<'upload'>;
export type ReleaseId = Id<'release'>;
export type ServiceId = Id<'service'>;
export type DomainId = Id<'domain'>;
export type EnvironmentDomainId = Id<'environmentDomain'>;
export type CertificateId = Id<'certificate'>;
export type AcmeAccountId = Id<'acmeAccount'>;
export type VariableId = Id<'variable'>;
export type HookId = Id<'hook'>;
export type DeliveryId = Id<'delivery'>;
export type BackupId = Id<'backup'>;
export type BackupPartId = Id<'backupPart'>;
export type BackupDestinationId = Id<'backupDestination'>;
export type BackupRestoreId = Id<'backupRestore'>;
export type BackupReplacedId = Id<'backupReplaced'>;
export type ConnectorId = Id<'connector'>;
export type NoticeId = Id<'notice'>;
export type RecipientId = Id<'recipient'>;
export type NotificationDeliveryId = Id<'notificationDelivery'>;

/** A new id. The type parameter is fixed by where it is stored. */
export function newId<T extends Id<string>>(): T {
  return v7() as T;
}

/** For what comes in where no schema looks at it. */
export function isId<T extends Id<string>>(text: string): text is T {
  return validate(text);
}
