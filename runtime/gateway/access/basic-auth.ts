import { timingSafeEqual } from "node:crypto";

import { PlatformError } from "../../api/platform-error.ts";
import { digest, openCredentialFiles, type CredentialDigests } from "./credential-files.ts";
import { LoginThrottle } from "./login-throttle.ts";

/** What someone signs in with. */
export interface NamedPassword {
  readonly user: string;
  readonly password: string;
}

/** Checks the administrator's credentials (contract §1.2). */
export interface BasicAuth {
  /** How callers that it lets pass identify themselves: `open` = not at all. */
  readonly via: "basic" | "open";
  /** What is compared with now; undefined where nobody is asked. */
  readonly credentials: (() => CredentialDigests) | undefined;
  /**
   * Returns if the header holds them. `address` is the client's; wrong passwords are counted by it and their user.
   * @throws PlatformError `credentials_required`, `credentials_invalid`, `too_many_logins`
   */
  check(authorization: string | undefined, address: string): void;
  /**
   * The same for a form.
   * @throws PlatformError `credentials_invalid`, `too_many_logins`
   */
  checkPassword(sent: NamedPassword, address: string): void;
  /**
   * The same as `check` for the call of a function, but too many wrong passwords are `credentials_invalid`, too.
   * @throws PlatformError `credentials_required`, `credentials_invalid`
   */
  checkCall(authorization: string | undefined, address: string): void;
  /**
   * Refuses credentials of another kind; returns where nobody is asked. They are not counted: tokens cannot be guessed.
   * @throws PlatformError `credentials_invalid`
   */
  refuse(): void;
  /**
   * Whether the header names the platform's user; the password is not checked. Such a header never reaches a function
   * or the queue, and its sender learns nothing about the password.
   */
  namesPlatformUser(authorization: string): boolean;
}

/**
 * Credentials from the files below `directory`, compared in constant time.
 *
 * Who sends wrong passwords locks out nobody who has the right one: a password that cannot be guessed is always
 * compared. One that can be guessed is not compared while its sender is over the limit of the throttle, unless the
 * address sent it within the last day; then only the limit of the address counts, so that guessing stays bounded there.
 * @throws PlatformError when a file is missing or empty
 */
export function openBasicAuth(directory: string, now: () => number = Date.now): BasicAuth {
  const credentials = openCredentialFiles(directory, now);
  const throttle = new LoginThrottle(now);

  /** Milliseconds to wait after wrong or unchecked credentials; undefined: they are right. */
  const judge = (sent: NamedPassword, address: string): number | undefined => {
    const { user, password, isGuessable } = credentials();
    const sentUser = digest(sent.user);
    const rightUser = timingSafeEqual(sentUser, user);
    const isRight = timingSafeEqual(digest(sent.password), password) && rightUser;
    if (isRight && !isGuessable) return undefined;
    const attempt = { address, user: sentUser.toString("base64", 0, 12) };
    const current = password.toString("base64");
    const waitMs = throttle.waitMsOf(attempt);
    const isKnown = throttle.waitMsOfAddress(address) === 0 && throttle.isKnown(address, current);
    if (waitMs > 0 && !isKnown) return waitMs;
    if (isRight) {
      throttle.passed(address, current);
      return undefined;
    }
    throttle.failed(attempt);
    return waitMs;
  };
  const check = (sent: NamedPassword | undefined, address: string): void => {
    const waitMs = sent === undefined ? 0 : judge(sent, address);
    if (waitMs === undefined) return;
    if (waitMs === 0) throw wrongCredentials();
    throw new PlatformError("too_many_logins", "Cannot check credentials: this address sent too many wrong ones", {
      retryAfterSeconds: waitMs / 1_000,
    });
  };

  return {
    via: "basic",
    credentials,
    check(authorization, address) {
      check(parseBasic(present(authorization)), address);
    },
    checkPassword: check,
    checkCall(authorization, address) {
      const sent = parseBasic(present(authorization));
      if (sent === undefined || judge(sent, address) !== undefined) throw wrongCredentials();
    },
    refuse() {
      throw wrongCredentials();
    },
    namesPlatformUser: (authorization) => {
      const user = userOf(authorization);
      return user !== undefined && timingSafeEqual(digest(user), credentials().user);
    },
  };
}

/** For `basic_auth=false`: every request is allowed, and no header holds the platform's credentials. */
export const openToAll: BasicAuth = {
  via: "open",
  credentials: undefined,
  check: () => {},
  checkPassword: () => {},
  checkCall: () => {},
  refuse: () => {},
  namesPlatformUser: () => false,
};

function wrongCredentials(): PlatformError {
  return new PlatformError("credentials_invalid", "Cannot answer this request: its credentials are wrong");
}

/**
 * A scheme with nothing after it, as some clients send, counts as missing.
 * @throws PlatformError `credentials_required`
 */
function present(authorization: string | undefined): string {
  if (authorization !== undefined && !/^\s*(basic|bearer)?\s*$/i.test(authorization)) return authorization;
  throw new PlatformError("credentials_required", "Cannot answer this request: it has no credentials");
}

/** The user that a Basic header names, parsed as leniently as a function behind the gateway might. */
function userOf(authorization: string): string | undefined {
  const encoded = /^\s*basic\s+(.*)$/i.exec(authorization)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString("utf8").split(":", 1)[0];
}

/** Undefined for what is no user and password: it is wrong, but no attempt at a password. */
function parseBasic(authorization: string): NamedPassword | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon === -1 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
