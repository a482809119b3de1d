import { networkOf, siteOf } from "../edge/client-network.ts";

/** Wrong passwords within a window after which an address is refused: for one user, and for all users together. */
const maxWrong = { user: 20, address: 500 } as const;
const windowMs = 60_000;
/** Addresses, and users of them, that are counted at a time: about 20 MB. */
const capacity = { addresses: 10_000, users: 100_000 } as const;
/** How long an address is known for having sent the right password. */
const knownForMs = 24 * 3_600_000;

interface Window {
  readonly startMs: number;
  /** Of all users. */
  wrong: number;
  readonly byUser: Map<string, number>;
}

/** Credentials, as far as the throttle knows them. */
export interface ThrottledAttempt {
  /** Of the client; those of one IPv6 /64 count as one. */
  readonly address: string;
  /** Digest of the user. */
  readonly user: string;
}

/**
 * Counts wrong passwords: by address and user, so that who fails for one user locks out no other, and by address alone
 * with a limit far above that, which is shared by an IPv6 /48. It also remembers which addresses sent the right one.
 * Only right passwords enter that table, so wrong ones never push anybody out of it.
 */
export class LoginThrottle {
  readonly #now: () => number;
  /** By address, in the order in which the windows began. */
  readonly #windows = new Map<string, Window>();
  /** Entries of all `byUser`. */
  #users = 0;
  /** By the /48 of an IPv6 address, or an IPv4 address. */
  readonly #sites = new Map<string, Window>();
  /** When an address last sent the right password, and which; the longest ago first. */
  readonly #known = new Map<string, { readonly password: string; readonly atMs: number }>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Milliseconds until an address may try another password for the user; 0 = now. */
  waitMsOf({ address, user }: ThrottledAttempt): number {
    const found = this.#windows.get(networkOf(address));
    const ofUser = found !== undefined && (found.byUser.get(user) ?? 0) >= maxWrong.user ? this.#leftMs(found) : 0;
    return Math.max(ofUser, this.waitMsOfAddress(address));
  }

  /** Milliseconds until an address may try any password; 0 = now. */
  waitMsOfAddress(address: string): number {
    const found = this.#sites.get(siteOf(address));
    return found === undefined || found.wrong < maxWrong.address ? 0 : this.#leftMs(found);
  }

  /** Counts a wrong password. */
  failed({ address, user }: ThrottledAttempt): void {
    this.#dropOldest(this.#windows, () => this.#users < capacity.users);
    const { byUser } = this.#count(this.#windows, networkOf(address));
    const before = byUser.get(user);
    byUser.set(user, (before ?? 0) + 1);
    if (before === undefined) this.#users += 1;
    this.#count(this.#sites, siteOf(address));
  }

  /** Remembers that an address sent the right password. */
  passed(address: string, password: string): void {
    const key = networkOf(address);
    this.#known.delete(key);
    const [oldest] = this.#known.size < capacity.addresses ? [] : this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, { password, atMs: this.#now() });
  }

  /** Whether an address sent this password, when it was the right one, within the last 24 h. */
  isKnown(address: string, password: string): boolean {
    const found = this.#known.get(networkOf(address));
    return found !== undefined && found.password === password && this.#now() < found.atMs + knownForMs;
  }

  #leftMs({ startMs }: Window): number {
    return Math.max(0, startMs + windowMs - this.#now());
  }

  #count(windows: Map<string, Window>, key: string): Window {
    const found = windows.get(key);
    if (found !== undefined && this.#leftMs(found) > 0) {
      found.wrong += 1;
      return found;
    }
    this.#drop(windows, key);
    this.#dropOldest(windows, () => windows.size < capacity.addresses);
    const window = { startMs: this.#now(), wrong: 1, byUser: new Map<string, number>() };
    windows.set(key, window);
    return window;
  }

  /** Drops windows that are over, and older ones until there is room. */
  #dropOldest(windows: Map<string, Window>, hasRoom: () => boolean): void {
    for (const [key, window] of windows) {
      if (hasRoom() && this.#leftMs(window) > 0) return;
      this.#drop(windows, key);
    }
  }

  #drop(windows: Map<string, Window>, key: string): void {
    this.#users -= windows.get(key)?.byUser.size ?? 0;
    windows.delete(key);
  }
}
