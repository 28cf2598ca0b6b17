import { useLocation } from 'preact-iso/router';

/**
 * The dialog that is open stands in the address, so that the palette and links lead to it. It only asks: nothing is done
 * before the person in front of it has pressed its button.
 */
export function useAsked<Name extends string>(
  names: readonly Name[],
): readonly [asked: Name | undefined, ask: (name: Name | undefined) => void] {
  const { path, query, route } = useLocation();
  const asked = names.find((name) => name === query.ask);
  return [asked, (name) => route(name ? `${path}?ask=${name}` : path, true)];
}
