import { useSignal } from "@preact/signals";

import { pageLink } from "../data/address/page-links.ts";
import { useConsole } from "../data/console-context.ts";
import { useShortcuts } from "../data/look/use-shortcuts.ts";
import { useLoaded } from "../data/requests/use-loaded.ts";
import { Waiting } from "../parts/layout/loaded-view.tsx";
import { DefectBoundary } from "../parts/layout/panel.tsx";
import { FailureNote } from "../parts/texts/failure-note.tsx";
import { Button } from "../parts/forms/button.tsx";
import { NoticeBars } from "./notice-bars.tsx";
import { PageView } from "./page-view.tsx";
import { ShortcutList } from "./shortcut-list.tsx";
import { SideBar } from "./side-bar.tsx";
import { SignInPage } from "./sign-in.tsx";

/** What stands around every page: who is signed in, where one can go, and what is wrong with all of it. */
export function ConsoleShell() {
  const { address, connection, session } = useConsole();
  const listsShortcuts = useSignal(false);
  const { state: loaded, reload } = useLoaded("session", () => session.load());
  useShortcuts([
    { keys: "?", what: "This list", act: () => (listsShortcuts.value = true) },
    { keys: "/", what: "Search on the page", act: focusSearch },
    { keys: "g f", what: "Functions", act: () => address.go(pageLink.overview) },
    { keys: "g c", what: "Calls", act: () => address.go(pageLink.calls()) },
    { keys: "g q", what: "Queues", act: () => address.go(pageLink.queues) },
    { keys: "g s", what: "System", act: () => address.go(pageLink.system) },
  ]);

  const state = session.state.value;
  const { failure } = loaded.value;
  if (state.kind === "unknown" && failure !== undefined) {
    return (
      <main class="alone">
        <FailureNote failure={failure} repeats />
        <Button look="main" local onClick={reload}>
          Try again
        </Button>
      </main>
    );
  }
  if (state.kind === "unknown") return <Waiting since={performance.timeOrigin} what="the gateway" />;
  const info = state.kind === "signedIn" ? state.info : state.before;
  if (info === undefined) return <SignInPage over={false} />;
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={focusContent}>
        Skip to the content
      </a>
      <SideBar info={info} onShortcuts={() => (listsShortcuts.value = true)} />
      <div class="shell-page">
        <NoticeBars info={info} />
        <main
          id="content"
          tabIndex={-1}
          key={session.changes.value}
          class={connection.state.value.kind === "away" ? "stale" : undefined}
        >
          <DefectBoundary>
            <PageView />
          </DefectBoundary>
        </main>
      </div>
      {state.kind === "signedOut" && <SignInPage over />}
      {listsShortcuts.value && <ShortcutList onClose={() => (listsShortcuts.value = false)} />}
    </div>
  );
}

/** The mark of an address names a part of some pages, so it stays. */
function focusContent(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#content")?.focus();
}

/** Every page that can be searched has one such field. */
function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  field?.focus();
  field?.select();
}
