/** Restarts servers of the broker by ending them; they start again by themselves. */
export interface BrokerServers {
  /**
   * Ends the server with that host, and resolves with true when it runs again; with false when it is left alone: it is
   * not part of this platform, was restarted just now, or `stop` aborted.
   * @throws PlatformError `provider_unavailable` when it cannot be ended, or does not come back in time
   */
  restart(server: string, stop: AbortSignal): Promise<boolean>;
}
