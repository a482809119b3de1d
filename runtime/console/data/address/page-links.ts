/** Paths of the console's pages; names are encoded. */
export const pageLink = {
  overview: "/ui/",
  newFunction: "/ui/new",
  function: (namespace: string, name: string, tab: "" | "try" | "logs" | "scaling" | "edit" = "") =>
    `/ui/f/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}${tab === "" ? "" : `/${tab}`}`,
  calls: (filter: Readonly<Record<string, string>> = {}) => {
    const query = new URLSearchParams(filter).toString();
    return `/ui/calls${query === "" ? "" : `?${query}`}`;
  },
  call: (id: string) => `/ui/calls/${encodeURIComponent(id)}`,
  queues: "/ui/queues",
  queue: (name: string) => `/ui/queues/${encodeURIComponent(name)}`,
  deadLetters: (queue?: string) =>
    queue === undefined ? "/ui/dead-letters" : `/ui/dead-letters?${new URLSearchParams({ queue }).toString()}`,
  secrets: "/ui/secrets",
  namespaces: "/ui/namespaces",
  schedules: "/ui/schedules",
  triggers: "/ui/triggers",
  system: "/ui/system",
  access: "/ui/access",
  audit: "/ui/audit",
} as const;
