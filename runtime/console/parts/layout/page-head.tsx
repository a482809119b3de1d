import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { useConsole } from "../../data/console-context.ts";
import { shownText } from "../../data/words/shown-text.ts";
import { Shown } from "../texts/shown.tsx";

export interface PageHeadProps {
  readonly title: string;
  /** Above the title: where it belongs to. */
  readonly above?: ComponentChildren;
  /** Buttons of the page. */
  readonly children?: ComponentChildren;
}

/** The heading of a page: the window's title, and where focus goes when the page was opened. */
export function PageHead({ title, above, children }: PageHeadProps) {
  const { address } = useConsole();
  const heading = useRef<HTMLHeadingElement>(null);
  const { visit } = address.place.value;
  useEffect(() => {
    document.title = `${shownText(title)} – Weir`;
  }, [title]);
  useEffect(() => {
    // At the first page, the browser's own start of the document is right.
    if (visit > 0) heading.current?.focus({ preventScroll: true });
  }, [visit]);
  return (
    <header class="page-head">
      <div>
        {above !== undefined && <p class="above">{above}</p>}
        <h1 ref={heading} tabIndex={-1}>
          <Shown text={title} />
        </h1>
      </div>
      {children !== undefined && <div class="page-acts">{children}</div>}
    </header>
  );
}
