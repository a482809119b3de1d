import type { Terminal } from "../terminal.ts";

/** Values of `--color`. */
export const colourChoices = ["auto", "always", "never"] as const;
export type ColourChoice = (typeof colourChoices)[number];

/**
 * Whether results are coloured: as the flag says, else as `NO_COLOR` and `FORCE_COLOR` do, else on a terminal that is
 * not `dumb`.
 */
export function mayColour(
  choice: ColourChoice,
  { environment, isTerminal }: Pick<Terminal, "environment" | "isTerminal">,
): boolean {
  if (choice !== "auto") return choice === "always";
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = environment;
  if (NO_COLOR !== "") return false;
  if (FORCE_COLOR !== "") return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return TERM !== "dumb" && isTerminal.stdout;
}

const codes = { green: 32, yellow: 33, red: 31 } as const;

/** First words of states by their colour; all others have none. */
const colourOfWord: Readonly<Record<string, keyof typeof codes>> = {
  ready: "green",
  done: "green",
  ok: "green",
  waiting: "yellow",
  warning: "yellow",
  stalled: "red",
  failed: "red",
  cancelled: "red",
  problem: "red",
};

/** A state such as `Ready` or `Stalled: image` in the colour of its first word; `shown` is what is left of it. */
export function colourState(state: string, shown = state): string {
  const word = /^[a-z]+/i.exec(state)?.[0].toLowerCase() ?? "";
  const colour = Object.hasOwn(colourOfWord, word) ? colourOfWord[word] : undefined;
  return colour === undefined || shown === "" ? shown : `\u001B[${codes[colour]}m${shown}\u001B[39m`;
}
