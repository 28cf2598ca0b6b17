/** A table. On a small screen each row is a list of what its columns are called and hold. */
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
      <table class="table" style={named(heads)}>
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

/** For the style of small screens, which has no other way to the name of a column. */
function named(heads: readonly string[]): Record<string, string> {
  return Object.fromEntries(heads.map((head, at) => [`--head-${at + 1}`, JSON.stringify(head)]));
}
