/**
 * A program that asks to be signed in, such as `slipway login`: the code that it shows is typed here, never carried by a
 * link, so that whoever is sent one cannot allow with a click what they did not begin.
 */
import { useState } from 'preact/hooks';
import type { DeviceRequest } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { signedIn } from '../data/session.ts';
import { useTitle } from '../parts/title.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { Time } from '../ui/time.tsx';

interface Asked extends DeviceRequest {
  readonly userCode: string;
}

export function DevicePage() {
  useTitle('Allow a program');
  const [asked, setAsked] = useState<Asked>();
  const [isAllowed, setAllowed] = useState<boolean>();
  return (
    <>
      <header class="page-head">
        <h1>Allow a program to sign in</h1>
      </header>
      {isAllowed !== undefined ? (
        <p class="notice" role="status">
          {isAllowed
            ? 'Allowed. Go back to the terminal: it is signed in within seconds.'
            : 'Refused. The program is told so, and gets nothing.'}
        </p>
      ) : asked ? (
        <Answer asked={asked} onAnswered={setAllowed} onBack={() => setAsked(undefined)} />
      ) : (
        <TypeCode onFound={setAsked} />
      )}
    </>
  );
}

function TypeCode({ onFound }: { readonly onFound: (asked: Asked) => void }) {
  const find = useAction(async (userCode: string) =>
    onFound({ userCode, ...(await api.verifyUserCode({ body: { userCode } })) }),
  );
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void find.run((fieldsOf(event.currentTarget).userCode ?? '').trim().toUpperCase());
      }}
    >
      <TextField
        label="Code"
        name="userCode"
        placeholder="WDJB-MJHT"
        hint="The eight letters that `slipway login` shows in your terminal."
        maxLength={40}
        error={find.failure?.fields.userCode}
        isRequired
        isFocused
      />
      {find.failure && <FailureNotice failure={find.failure} />}
      <div class="row">
        <Button type="submit" kind="primary" isBusy={find.isBusy}>
          Continue
        </Button>
      </div>
    </form>
  );
}

interface AnswerProps {
  readonly asked: Asked;
  readonly onAnswered: (isAllowed: boolean) => void;
  readonly onBack: () => void;
}

function Answer({ asked, onAnswered, onBack }: AnswerProps) {
  const { userCode, deviceName, userAgent, ip, sameNetwork, requestedAt } = asked;
  const answer = useAction(async (allow: boolean) => {
    await api.answerDeviceCode({ body: { userCode, allow } });
    onAnswered(allow);
  });
  return (
    <section class="card stack" aria-label="What asks">
      <dl class="facts">
        <Fact name="Code">{userCode}</Fact>
        <Fact name="Machine, as it says">{deviceName}</Fact>
        <Fact name="Program, as it says">{userAgent ?? 'says nothing'}</Fact>
        <Fact name="Address">{ip}</Fact>
        <Fact name="Asked">
          <Time at={requestedAt} />
        </Fact>
      </dl>
      {!sameNetwork && (
        <p class="notice notice-bad" role="alert">
          It asks from another network than the one you are in now. Where you did not begin this yourself on
          that machine, refuse it.
        </p>
      )}
      <p>
        Allow it only if you have just run <code>slipway login</code> yourself. It can then do all that{' '}
        {signedIn.value?.user.email} can, until you sign it out or end its session in your profile. Nobody who
        helps you needs this: whoever sent you a code wants to be you.
      </p>
      {answer.failure && <FailureNotice failure={answer.failure} />}
      <div class="row">
        <Button kind="primary" isBusy={answer.isBusy} onPress={() => answer.run(true)}>
          Allow
        </Button>
        <Button isBusy={answer.isBusy} onPress={() => answer.run(false)}>
          Refuse
        </Button>
        <Button kind="quiet" onPress={onBack}>
          Another code
        </Button>
      </div>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="clip">{children}</dd>
    </div>
  );
}
