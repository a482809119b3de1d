import { spawn } from "node:child_process";

/** Opens an address in the person's browser, if there is one: nothing is said where there is none. */
export function openBrowser(url: string): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
