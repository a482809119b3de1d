import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { PageAddress } from "./address/page-address.ts";
import type { PageTheme } from "./look/theme.ts";
import type { Shortcuts } from "./look/shortcuts.ts";
import type { GatewayConnection } from "./requests/connection.ts";
import type { Requests } from "./requests/requests.ts";
import type { SentChanges } from "./sent-change.ts";
import type { ConsoleSession } from "./session/console-session.ts";
import type { LiveStream } from "./stream/live-stream.ts";
import type { PageClock } from "./time/page-clock.ts";

/** What every part of a page may use. */
export interface ConsoleData {
  readonly session: ConsoleSession;
  readonly requests: Requests;
  readonly connection: GatewayConnection;
  readonly stream: LiveStream;
  readonly address: PageAddress;
  readonly clock: PageClock;
  readonly theme: PageTheme;
  readonly shortcuts: Shortcuts;
  /** What was changed last, for the note above the page. */
  readonly sent: SentChanges;
}

export const ConsoleContext = createContext<ConsoleData | undefined>(undefined);

/** What the page was opened with. */
export function useConsole(): ConsoleData {
  const data = useContext(ConsoleContext);
  if (data === undefined) throw new Error("Cannot show a part of the console outside of its context");
  return data;
}
