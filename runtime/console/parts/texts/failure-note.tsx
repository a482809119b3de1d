import { useConsole } from "../../data/console-context.ts";
import type { RequestFailure } from "../../data/requests/request-failure.ts";
import { countOf } from "../../data/words/number-words.ts";
import { Shown } from "./shown.tsx";

/** What a failed request comes to for the one who reads it, beside its sentence. */
export function failureHint(
  failure: RequestFailure,
  { user, repeats }: { readonly user: string | undefined; readonly repeats: boolean },
): string | undefined {
  const { status, code, retryAfterSeconds } = failure;
  if (code === "gateway_away") return repeats ? "The page tries again by itself." : undefined;
  if (status === 403) return user === undefined ? undefined : `You are signed in as ${user}.`;
  if (status === 429 || status === 503) {
    const wait = retryAfterSeconds === undefined ? "" : ` in ${countOf(retryAfterSeconds, "second")}`;
    return repeats ? `The page asks again${wait}.` : `Try again${wait}.`;
  }
  return undefined;
}

export interface FailureNoteProps {
  readonly failure: RequestFailure;
  /** Whether the page asks again by itself, as it does for what it reads. */
  readonly repeats?: boolean;
}

/** Why something failed, in the gateway's sentence. It is read aloud when it appears. */
export function FailureNote({ failure, repeats = false }: FailureNoteProps) {
  const { session } = useConsole();
  const state = session.state.value;
  const hint = failureHint(failure, { user: state.kind === "signedIn" ? state.info.user : undefined, repeats });
  return (
    <p class="note tone-bad" role="alert">
      <span>
        <Shown text={failure.message} />
        {hint !== undefined && (
          <>
            {" "}
            <span class="muted">
              <Shown text={hint} />
            </span>
          </>
        )}
      </span>
    </p>
  );
}
