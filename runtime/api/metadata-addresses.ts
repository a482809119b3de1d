/**
 * The metadata services from which a cloud machine gets its credentials: blocked for callbacks and for functions in
 * containers and pods. The range of an address is blocked, too, if nothing else uses it (`security.md` §5).
 */
const services: readonly { readonly address: string; readonly range: string; readonly of: string }[] = [
  { address: "169.254.169.254", range: "169.254.0.0/16", of: "AWS, Azure, Google Cloud and most others; link-local" },
  { address: "168.63.129.16", range: "168.63.129.16/32", of: "Azure" },
  { address: "192.0.0.192", range: "192.0.0.192/32", of: "Oracle Cloud" },
  { address: "100.100.100.200", range: "100.100.100.200/32", of: "Alibaba Cloud" },
  { address: "fd00:ec2::254", range: "fd00:ec2::254/128", of: "AWS" },
];

/** Addresses of metadata services. */
export const metadataAddresses: readonly string[] = services.map(({ address }) => address);

/** The ranges they are in, IPv4 and IPv6. */
export const metadataRanges: { readonly v4: readonly string[]; readonly v6: readonly string[] } = {
  v4: services.map(({ range }) => range).filter((range) => !range.includes(":")),
  v6: [...services.map(({ range }) => range).filter((range) => range.includes(":")), "fe80::/10"],
};

/** Names of metadata services. */
export const metadataNames: readonly string[] = [
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
];
