import { useComputed, useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";

import { pageMatcher } from "../data/address/match-page.ts";
import { pageLink } from "../data/address/page-links.ts";
import { useConsole } from "../data/console-context.ts";
import { Waiting } from "../parts/layout/loaded-view.tsx";
import { PageHead } from "../parts/layout/page-head.tsx";
import { DefectBoundary } from "../parts/layout/panel.tsx";
import { pageTable, type PageProps, type Pages } from "../page-table.ts";
import { Button } from "../parts/forms/button.tsx";
import { Note } from "../parts/texts/notice-bar.tsx";

const matchPage = pageMatcher<Pages>(pageTable);

interface LoadedPage {
  readonly view: ComponentType<PageProps>;
  readonly params: PageProps["params"];
  readonly key: string;
}

/** The page of the address. Its script may have to be loaded first; the page before stays until it is there. */
export function PageView() {
  const { address, sent } = useConsole();
  const path = useComputed(() => address.place.value.path);
  const shown = useSignal<LoadedPage | "missing" | "unreachable" | undefined>(undefined);
  const tries = useSignal(0);
  useEffect(() => {
    let wanted = true;
    sent.turnPage();
    const matched = matchPage(path.value);
    if (matched === undefined) {
      shown.value = "missing";
      return undefined;
    }
    const { group, page, params } = matched;
    group.load().then(
      (pages) => {
        const view = pages[page];
        if (wanted) shown.value = view === undefined ? "missing" : { view, params, key: path.value };
      },
      () => {
        if (wanted) shown.value = "unreachable";
      },
    );
    return () => (wanted = false);
  }, [path.value, tries.value]);

  const current = shown.value;
  const key = typeof current === "object" ? current.key : undefined;
  useLayoutEffect(() => {
    if (key === undefined) return undefined;
    return restoreScroll(address.takeScroll(key) ?? 0);
  }, [key]);

  if (current === undefined) return <Waiting since={performance.timeOrigin} what="the page" />;
  if (current === "missing") return <MissingPage />;
  if (current === "unreachable") return <UnreachablePage onTry={() => tries.value++} />;
  const View = current.view;
  return (
    <DefectBoundary key={current.key}>
      <View params={current.params} />
    </DefectBoundary>
  );
}

function MissingPage() {
  return (
    <>
      <PageHead title="There is no such page" />
      <p>
        The address leads nowhere in this release. <a href={pageLink.overview}>All functions</a>
      </p>
    </>
  );
}

function UnreachablePage({ onTry }: { readonly onTry: () => void }) {
  return (
    <>
      <PageHead title="The page could not be loaded" />
      <Note tone="bad">The gateway did not send the script of this page. It may be away, or Weir was updated.</Note>
      <div class="row-of-buttons">
        <Button look="main" local onClick={onTry}>
          Try again
        </Button>
        <Button onClick={() => location.reload()}>Reload</Button>
      </div>
    </>
  );
}

/** Longest time for a page to become as high as it was, milliseconds. */
const restoreWithin = 2_000;

/** Scrolls as soon as the page is high enough, which takes what it shows. What it returns gives up. */
function restoreScroll(to: number): () => void {
  const end = performance.now() + restoreWithin;
  let frame = 0;
  const attempt = (): void => {
    const room = document.documentElement.scrollHeight - window.innerHeight;
    if (room >= to || performance.now() > end) window.scrollTo({ top: to, behavior: "instant" });
    else frame = requestAnimationFrame(attempt);
  };
  attempt();
  return () => cancelAnimationFrame(frame);
}
