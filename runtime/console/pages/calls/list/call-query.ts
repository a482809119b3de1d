import { callFilterNames, type CallFilterName } from "../../../../api/names.ts";
import { commandLine } from "../../../data/words/shell-word.ts";

/** What the list of calls is narrowed by; an absent one narrows nothing. */
export type CallQuery = Readonly<Partial<Record<CallFilterName, string>>>;

/** The query of an address, without what is none of the list's. */
export function parseCallQuery(search: string): CallQuery {
  const given = new URLSearchParams(search);
  const query: Partial<Record<CallFilterName, string>> = {};
  for (const name of callFilterNames) {
    const value = given.get(name)?.trim() ?? "";
    if (value !== "") query[name] = value;
  }
  return query;
}

/** The search part of an address that shows the same list: empty, or with its `?`. */
export function formatCallQuery(query: CallQuery): string {
  const search = new URLSearchParams();
  for (const name of callFilterNames) {
    const value = query[name] ?? "";
    if (value !== "") search.set(name, value);
  }
  const text = search.toString();
  // A list of states is easier to read, and commas need no escape.
  return text === "" ? "" : `?${text.replaceAll("%2C", ",")}`;
}

/** The members of a list with commas. */
export function listOf(text: string | undefined): readonly string[] {
  return (text ?? "").split(",").filter((one) => one !== "");
}

/** The query with a member of a list added, or removed if it was there. */
export function toggled(query: CallQuery, name: CallFilterName, member: string): CallQuery {
  const before = listOf(query[name]);
  const after = before.includes(member) ? before.filter((one) => one !== member) : [...before, member];
  return { ...query, [name]: after.join(",") };
}

const options: Readonly<Record<CallFilterName, string>> = {
  function: "--function",
  namespace: "-n",
  queue: "--queue",
  kind: "--kind",
  state: "--state",
  status: "--status",
  reason: "--reason",
  source: "",
  since: "--since",
  until: "--until",
  id: "--id",
};

/** The command that lists the same; there is none for a source. */
export function callListCommand(query: CallQuery): string | undefined {
  if (query.source !== undefined) return undefined;
  const words = callFilterNames.flatMap((name) => {
    const value = query[name];
    return value === undefined || value === "" ? [] : [options[name], value];
  });
  return commandLine(["weir", "calls", "list", ...words]);
}
