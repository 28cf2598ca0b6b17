/** The dialogs in which a second factor comes to be. */
import { useMemo } from 'preact/hooks';
import type { Passkey, TotpSecret } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { makePasskey } from '../data/passkeys.ts';
import { qrOf } from '../data/qr.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Copy, CopyRow } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { saveFile } from '../ui/save-file.ts';

interface SetUpProps {
  /** With the recovery codes, where it was the first factor. */
  readonly onDone: (codes?: readonly string[]) => Promise<void>;
  readonly onClose: () => void;
}

export function SetUpApp({
  secret: { secret, url },
  onDone,
  onClose,
}: SetUpProps & { readonly secret: TotpSecret }) {
  const turnOn = useAction(async (code: string) =>
    onDone((await api.verifyTotp({ body: { code } })).recoveryCodes),
  );
  return (
    <Dialog title="Set up an authenticator app" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void turnOn.run(fieldsOf(event.currentTarget).code ?? '');
        }}
      >
        <p class="hint">Scan this with the app on your phone, or type the secret into it.</p>
        <QrCode text={url} />
        <CopyRow label="Secret" value={secret} />
        <TextField
          label="Code"
          name="code"
          hint="The six digits that the app shows then. It counts once they were right."
          inputMode="numeric"
          autocomplete="one-time-code"
          pattern="[0-9]{6}"
          maxLength={6}
          error={turnOn.failure?.fields.code}
          isRequired
          isFocused
        />
        {turnOn.failure && <FailureNotice failure={turnOn.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Not now</Button>
          <Button type="submit" kind="primary" isBusy={turnOn.isBusy}>
            Turn it on
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const quiet = 4;

function QrCode({ text }: { readonly text: string }) {
  const rows = useMemo(() => qrOf(text), [text]);
  // Of a very long address: the secret below does as well.
  if (!rows) return null;
  const size = rows.length + 2 * quiet;
  const path = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + quiet} ${y + quiet}h1v1h-1z` : '')))
    .join('');
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the secret">
      <path d={path} />
    </svg>
  );
}

export function AddPasskey({ onDone, onClose }: SetUpProps) {
  const add = useAction(async (name: string) => {
    const { challenge, options } = await api.startPasskey();
    const credential = await makePasskey(options);
    await onDone((await api.createPasskey({ body: { name, challenge, credential } })).recoveryCodes);
  });
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void add.run(fieldsOf(event.currentTarget).name ?? '');
        }}
      >
        <p class="hint">
          Kept by this device, a password manager, or a security key. The browser asks you which.
        </p>
        <TextField
          label="Name"
          name="name"
          placeholder="Laptop"
          hint="To know it by."
          maxLength={64}
          error={add.failure?.fields.name}
          isRequired
          isFocused
        />
        {add.failure && <FailureNotice failure={add.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Not now</Button>
          <Button type="submit" kind="primary" isBusy={add.isBusy}>
            Make the passkey
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface RenameProps {
  readonly passkey: Passkey;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

export function RenamePasskey({ passkey: { id, name }, onDone, onClose }: RenameProps) {
  const rename = useAction(async (next: string) => {
    await api.updatePasskey({ id, body: { name: next } });
    await onDone();
  });
  return (
    <Dialog title={`Rename ${name}`} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (await rename.run(fieldsOf(event.currentTarget).name ?? '')) onClose();
        }}
      >
        <TextField
          label="Name"
          name="name"
          value={name}
          maxLength={64}
          error={rename.failure?.fields.name}
          isRequired
          isFocused
        />
        {rename.failure && <FailureNotice failure={rename.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={rename.isBusy}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface CodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

export function RecoveryCodesShown({ codes, onClose }: CodesProps) {
  const text = codes.join('\n');
  return (
    <Dialog title="Recovery codes, this once" onClose={onClose}>
      <div class="stack">
        <p>
          Each works once in place of the app or a passkey. Keep them where the phone is not: printed, or in a
          password manager. They cannot be shown again.
        </p>
        <ol class="codes" aria-label="Recovery codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ol>
        <div class="row row-end">
          <Copy text={text} label="Copy all codes" />
          <Button
            onPress={() =>
              saveFile('slipway-recovery-codes.txt', new Blob([`${text}\n`], { type: 'text/plain' }))
            }
          >
            Download
          </Button>
          <Button kind="primary" onPress={onClose}>
            I have kept them
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
