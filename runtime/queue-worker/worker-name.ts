/** Characters of a host name that are kept: its end, which differs between the replicas of a Deployment. */
const hostLength = 40;

/** The name of a process in the records of calls: what its log messages say of it, host name and process id. */
export function workerName(host: string, pid: number): string {
  return `${host.slice(-hostLength)}:${pid}`;
}
