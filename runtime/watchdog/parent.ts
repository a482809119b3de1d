/** Why the function cannot be served: a reason in CamelCase and a sentence. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

/** The process on this host that started the watchdog and talks to it over an IPC channel. */
export interface Parent {
  /** The function's environment, which is kept apart from the watchdog's own. */
  readonly environment: Promise<Readonly<Record<string, string>>>;
  /** Requests are served on this port, or on the socket that was named. */
  serving(port: number): void;
  /** The function's own process will listen at this `host:port`. */
  readonly inner: (address: string) => void;
  /** It serves, but the function takes no calls yet. */
  waiting(failure: Failure): void;
  /** Resolves when the parent has received it, or is gone. */
  failed(failure: Failure): Promise<void>;
}

/** The parent, or undefined when there is no channel to one. `gone` is called when the parent ended. */
export function connectParent(gone: () => void): Parent | undefined {
  if (process.send === undefined) return undefined;
  const environment = new Promise<Readonly<Record<string, string>>>((resolve) => {
    process.once("message", (message) => resolve(environmentIn(message)));
  });
  process.once("disconnect", gone);
  return {
    environment,
    serving: (port) => void send({ serving: true, port }),
    inner: (address) => void send({ inner: address }),
    waiting: (failure) => void send({ waiting: failure }),
    failed: (failure) => send({ failure }),
  };
}

function send(message: object): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}

function environmentIn(message: unknown): Readonly<Record<string, string>> {
  const given = typeof message === "object" && message !== null && "environment" in message ? message.environment : {};
  if (typeof given !== "object" || given === null) return {};
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
