/** One mail as the lab keeps it. */
import PostalMime from 'postal-mime';

export interface SignIn {
  readonly method: string;
  readonly user: string;
  readonly password: string;
}

export interface Envelope {
  /** Empty for a bounce. */
  readonly from: string;
  readonly to: readonly string[];
}

export interface LabMessage {
  readonly id: string;
  readonly receivedAt: string;
  readonly envelope: Envelope;
  /** As whom the client signed in, if it did. */
  readonly signIn: SignIn | null;
  readonly subject: string | null;
  readonly text: string | null;
  readonly html: string | null;
  /** In order, with the names as they were written. Values are unfolded and not decoded. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Read as UTF-8; bytes that are none are replaced. */
  readonly raw: string;
}

export type ReadMessage = Pick<LabMessage, 'subject' | 'text' | 'html' | 'headers' | 'raw'>;

export async function readMessage(bytes: Buffer): Promise<ReadMessage> {
  const { subject = null, text = null, html = null, headers } = await PostalMime.parse(bytes);
  return {
    subject,
    text,
    html,
    headers: headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    raw: bytes.toString('utf8'),
  };
}
