/** The sides of a thing, one below the other in its address. Where they do not all fit, the present one is in sight. */
import { useEffect, useRef } from 'preact/hooks';

interface TabsProps {
  readonly label: string;
  readonly of: readonly (readonly [name: string, text: string])[];
  readonly path: string;
  readonly current: string;
}

export function Tabs({ label, of, path, current }: TabsProps) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    const tab = ref.current?.querySelector('[aria-current]');
    tab?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={ref}>
      {of.map(([name, text]) => (
        <a key={name} href={`${path}/${name}`} aria-current={name === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
