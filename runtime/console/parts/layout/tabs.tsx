/** One of several pages of one thing. */
export interface TabLink {
  readonly title: string;
  readonly href: string;
  readonly isHere: boolean;
}

/** Links between the pages of one thing: each has an address of its own. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly TabLink[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ title, href, isHere }) => (
        <a key={href} href={href} aria-current={isHere ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
