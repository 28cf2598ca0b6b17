/** The service does not answer at the first moment: it is tried again, by itself and by hand. */
import { useEffect } from 'preact/hooks';
import { resumeSession, session } from '../data/session.ts';
import { Button } from '../ui/button.tsx';

const againMs = 4_000;

export function Unreachable() {
  const now = session.value;
  useEffect(() => {
    const timer = setInterval(resumeSession, againMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <main class="gate">
      <h1>Slipway does not answer</h1>
      <p role="status">{now.state === 'unreachable' ? now.why : ''} It is tried again every few seconds.</p>
      <Button kind="primary" onPress={resumeSession}>
        Try now
      </Button>
    </main>
  );
}
