import { render } from "preact";

import { followLinks } from "./data/address/follow-links.ts";
import { ConsoleContext } from "./data/console-context.ts";
import { openConsole } from "./data/open-console.ts";
import { ConsoleShell } from "./shell/shell.tsx";

/** The console: opens what its pages use, then shows the page of the address. */
const root = document.querySelector<HTMLElement>("#app");
if (root === null) throw new Error("Cannot show the console: its document has no place for it");
const opened = openConsole(window);
followLinks(root, opened.address);
render(
  <ConsoleContext.Provider value={opened}>
    <ConsoleShell />
  </ConsoleContext.Provider>,
  root,
);
