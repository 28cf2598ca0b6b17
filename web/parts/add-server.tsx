/** A new server: its address, how to sign in, the key to install, and the connection tested step by step. */
import { useState } from 'preact/hooks';
import type { NewServer, Server } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextArea, TextField } from '../ui/field.tsx';
import { ConnectionTest } from './connection-test.tsx';

interface AddProps {
  readonly onAdded: (server: Server) => void;
  /** Where it is what the page is about. */
  readonly isFocused?: boolean;
}

export function AddServer({ onAdded, isFocused = true }: AddProps) {
  const [registered, setRegistered] = useState<Registered>();
  if (!registered) return <Registering onRegistered={setRegistered} isFocused={isFocused} />;
  const { server, isKeyThere } = registered;
  return (
    <div class="stack">
      {!isKeyThere && (
        <>
          <p>
            Put this key into <code>~{server.username}/.ssh/authorized_keys</code> on {server.host}, then test
            the connection. One line for a shell there:
          </p>
          <CopyRow
            label="Command"
            value={`mkdir -p ~/.ssh && echo '${server.publicKey.trim()}' >> ~/.ssh/authorized_keys`}
          />
        </>
      )}
      <ConnectionTest serverId={server.id} beginsItself={isKeyThere} />
      <div class="row row-end">
        <Button kind="primary" onPress={() => onAdded(server)}>
          Go on
        </Button>
      </div>
    </div>
  );
}

interface Registered {
  readonly server: Server;
  /** By a password, or because it is their own; a new one has to be put there first. */
  readonly isKeyThere: boolean;
}

type Auth = NewServer['auth'];

function authOf({
  auth,
  privateKey = '',
  passphrase,
  password = '',
}: Readonly<Record<string, string>>): Auth {
  if (auth === 'key') return { type: 'key', privateKey, ...(passphrase && { passphrase }) };
  if (auth === 'password') return { type: 'password', password };
  return { type: 'generated' };
}

interface RegisteringProps {
  readonly onRegistered: (registered: Registered) => void;
  readonly isFocused: boolean;
}

function Registering({ onRegistered, isFocused }: RegisteringProps) {
  const [auth, setAuth] = useState('generated');
  const action = useAction(async (body: NewServer) => {
    const server = await api.registerServer({ body });
    onRegistered({ server, isKeyThere: body.auth.type !== 'generated' });
  });
  const errors = action.failure?.fields ?? {};
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = fieldsOf(event.currentTarget);
        const { name = '', host = '', port = '22', username = 'root' } = fields;
        void action.run({ name, host, port: Number(port), username, auth: authOf(fields) });
      }}
    >
      <TextField
        label="Name"
        name="name"
        placeholder="ams-1"
        error={errors.name}
        isRequired
        isFocused={isFocused}
      />
      <TextField
        label="Address"
        name="host"
        placeholder="203.0.113.10 or server.example.com"
        error={errors.host}
        isRequired
      />
      <TextField label="SSH port" name="port" type="number" value="22" error={errors.port} isRequired />
      <TextField
        label="User"
        name="username"
        value="root"
        hint="root, or one who may use sudo without a password."
        error={errors.username}
        isRequired
      />
      <SelectField
        label="Sign in with"
        name="auth"
        value={auth}
        onChoice={setAuth}
        options={[
          { value: 'generated', text: 'a new key, which I install there' },
          { value: 'password', text: 'a password, used once to install a key' },
          { value: 'key', text: 'a private key that I have' },
        ]}
      />
      {auth === 'password' && (
        <TextField
          label="Password"
          name="password"
          type="password"
          hint="Used once, then forgotten."
          error={errors['auth.password']}
          isRequired
        />
      )}
      {auth === 'key' && (
        <TextArea
          label="Private key"
          name="privateKey"
          rows={5}
          error={errors['auth.privateKey']}
          isRequired
        />
      )}
      {auth === 'key' && (
        <TextField label="Its passphrase" name="passphrase" type="password" hint="Empty where it has none." />
      )}
      {action.failure && <FailureNotice failure={action.failure} />}
      <div class="row">
        <Button type="submit" kind="primary" isBusy={action.isBusy}>
          Add and test
        </Button>
      </div>
    </form>
  );
}
