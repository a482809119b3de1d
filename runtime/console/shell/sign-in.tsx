import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { useConsole } from "../data/console-context.ts";
import { useSending } from "../data/requests/use-sending.ts";
import { Button } from "../parts/forms/button.tsx";
import { Dialog } from "../parts/forms/dialog.tsx";
import { TextField } from "../parts/forms/field.tsx";
import { FailureNote } from "../parts/texts/failure-note.tsx";
import { Brand } from "./brand.tsx";
import { IssuerLinks } from "./issuer-links.tsx";

/** Asks who one is: as a page of its own, or `over` the page whose session ended, which keeps what was typed. */
export function SignInPage({ over }: { readonly over: boolean }) {
  const { session } = useConsole();
  if (over) {
    return (
      <Dialog title="Your session is over" onClose={() => {}} closes={false}>
        <div class="stack">
          <p>Sign in to go on where you were. What you typed is still there.</p>
          <SignInForm />
          <IssuerLinks over />
        </div>
      </Dialog>
    );
  }
  return (
    <main class="alone stack">
      <p class="brand">
        <Brand />
      </p>
      <h1>Sign in</h1>
      {session.cameFromElsewhere && (
        <p role="status">
          That sign-in did not begin in this tab, so it does not count here. Choose below how to sign in.
        </p>
      )}
      <SignInForm />
      <IssuerLinks over={false} />
    </main>
  );
}

function SignInForm() {
  const { session } = useConsole();
  const user = useSignal("admin");
  const password = useSignal("");
  const { state, send } = useSending();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = "Sign in – Weir";
    field.current?.focus();
  }, []);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const sent = password.value;
        password.value = "";
        void send(() => session.signIn({ user: user.value, password: sent })).then((done) => {
          if (!done) field.current?.focus();
        });
      }}
    >
      <TextField label="User" value={user} autocomplete="username" required />
      <TextField
        label="Password"
        value={password}
        type="password"
        autocomplete="current-password"
        required
        hint="On one machine it is in the file that the start of Weir names, credentials/basic-auth-password of its data directory"
        inputRef={field}
      />
      {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
      <Button type="submit" look="main" busy={state.value.kind === "sending"}>
        Sign in
      </Button>
    </form>
  );
}
