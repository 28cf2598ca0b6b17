/** A table that is wider than a small screen scrolls by itself, by keyboard too. */
import type { ComponentChildren } from 'preact';

interface TableProps {
  readonly label: string;
  /** One column each; an empty one is for buttons. */
  readonly heads: readonly string[];
  readonly children: ComponentChildren;
}

export function Table({ label, heads, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section class="table-frame" tabIndex={0} aria-label={label}>
      <table class="table">
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col" key={head}>
                {head || <span class="sr-only">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
