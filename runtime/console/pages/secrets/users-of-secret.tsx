import { pageLink } from "../../data/address/page-links.ts";
import type { RequestFailure } from "../../data/requests/request-failure.ts";
import { Shown } from "../../parts/texts/shown.tsx";

export interface UsersOfSecretProps {
  readonly namespace: string;
  /** undefined = not known. */
  readonly users: readonly string[] | undefined;
  /** Whether the session may list functions. */
  readonly mayList: boolean;
  /** Why they could not be read. */
  readonly failure: RequestFailure | undefined;
}

/** The functions that use a secret, or why they are not known. */
export function UsersOfSecret({ namespace, users, mayList, failure }: UsersOfSecretProps) {
  if (users === undefined) {
    const why = mayList ? failure?.message : "functions may not be listed";
    return <span class="muted">{why === undefined ? "…" : `not known: ${why}`}</span>;
  }
  if (users.length === 0) return <span class="muted">no function</span>;
  return (
    <span class="row-of-buttons">
      {users.map((name) => (
        <a key={name} href={pageLink.function(namespace, name)}>
          <Shown text={name} />
        </a>
      ))}
    </span>
  );
}
