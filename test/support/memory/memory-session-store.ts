import { PlatformError } from "../../../runtime/api/platform-error.ts";
import {
  isSameSession,
  type Session,
  type SessionObserver,
  type SessionStore,
} from "../../../runtime/core/ports/session-store.ts";

/** Keeps sessions in this process; observers are called before a write resolves. */
export class MemorySessionStore implements SessionStore {
  /** Milliseconds for which it is away; 0 = it is there. */
  away = 0;
  readonly #sessions = new Map<string, Session>();
  readonly #observers = new Set<SessionObserver>();

  async create(key: string, session: Session): Promise<void> {
    this.#check();
    const kept = structuredClone(session);
    this.#sessions.set(key, kept);
    for (const observer of this.#observers) observer.set(key, kept);
  }

  async get(key: string): Promise<Session | undefined> {
    this.#check();
    return this.#sessions.get(key);
  }

  async replace(key: string, before: Session, after: Session): Promise<boolean> {
    this.#check();
    const found = this.#sessions.get(key);
    if (found === undefined || !isSameSession(found, before)) return false;
    await this.create(key, after);
    return true;
  }

  async remove(key: string): Promise<void> {
    this.#check();
    if (!this.#sessions.delete(key)) return;
    for (const observer of this.#observers) observer.removed(key);
  }

  async watch(observer: SessionObserver): Promise<() => void> {
    for (const [key, session] of this.#sessions) observer.set(key, session);
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  awayFor(): number {
    return this.away;
  }

  #check(): void {
    if (this.away > 0) throw new PlatformError("provider_unavailable", 'Cannot use store "sessions": it is away');
  }
}
