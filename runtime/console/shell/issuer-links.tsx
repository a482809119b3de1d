import { useEffect } from "preact/hooks";

import { useConsole } from "../data/console-context.ts";
import { useLoaded } from "../data/requests/use-loaded.ts";
import { loginLink } from "../data/session/login-link.ts";
import { FailureNote } from "../parts/texts/failure-note.tsx";
import { Shown } from "../parts/texts/shown.tsx";

/**
 * Links to the issuers that one can sign in at, if there are any. `over` a page, they open beside it where the new
 * session is known to this page, too: on http each tab knows its own alone.
 */
export function IssuerLinks({ over }: { readonly over: boolean }) {
  const { address, session } = useConsole();
  const { state } = useLoaded("issuers", () => session.issuers());
  const { value: issuers = [], failure } = state.value;
  const beside = over && location.protocol === "https:";
  useEffect(() => {
    if (!beside) return undefined;
    const look = (): void => {
      // Whatever keeps it from being known is said by what is asked for next.
      if (document.visibilityState === "visible") session.load().catch(() => {});
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [beside, session]);
  if (failure !== undefined) return <FailureNote failure={failure} repeats />;
  if (issuers.length === 0) return null;
  return (
    <div class="stack">
      <p class="muted">{over ? orElsewhere(beside) : "Or where you have an account:"}</p>
      {issuers.map(({ name, issuer }) => (
        <a
          key={name}
          class="button"
          href={loginLink(name, address.place.value)}
          title={issuer}
          onClick={() => session.beginLogin()}
          {...(beside ? { target: "_blank", rel: "noopener" } : {})}
        >
          <span>
            Sign in with <Shown text={name} />
          </span>
        </a>
      ))}
    </div>
  );
}

function orElsewhere(beside: boolean): string {
  return beside
    ? "Or where you have an account, in another tab; this page goes on when you come back:"
    : "Or where you have an account; it leads away from this page, and what you typed is lost:";
}
