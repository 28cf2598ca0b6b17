import { type MouseEvent, type ReactNode, useSyncExternalStore } from 'react';

function subscribe(onChange: () => void) {
  window.addEventListener('popstate', onChange);
  return () => window.removeEventListener('popstate', onChange);
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => window.location.pathname);
}

export function Link({ to, children }: { to: string; children: ReactNode }) {
  function go(event: MouseEvent) {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    window.history.pushState(null, '', to);
    // pushState tells nobody; the browser's own back button does.
    window.dispatchEvent(new PopStateEvent('popstate'));
  }
  return (
    <a href={to} onClick={go}>
      {children}
    </a>
  );
}
