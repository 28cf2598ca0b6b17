/** The title of the tab says which page it is: among twenty tabs, that is all there is to see. */
import { useEffect } from 'preact/hooks';

export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Slipway` : 'Slipway';
  }, [title]);
}
