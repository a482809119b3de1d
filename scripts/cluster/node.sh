# What up does at level node alone; sourced, not run. Uses the functions and variables of up and lib.sh.
# shellcheck shell=bash disable=SC2154

# node_checks: fails unless this machine can have a node and has none; sets CNI_BIN.
node_checks() {
  ((EUID == 0)) || die "level node needs root (api and kwok do not)"
  [[ ! -e /sys/class/net/$BRIDGE ]] || die "another cluster of level node runs on this machine (bridge $BRIDGE)"
  if iptables-save | grep -q '^:KUBE-SERVICES '; then die "another Kubernetes node runs on this machine, or left its iptables rules"; fi
  for net in $POD_NET $SVC_NET; do
    if ip -4 route show root "$net.0.0/16" | grep -qv '^default'; then die "this machine already uses $net.0.0/16"; fi
  done
  for CNI_BIN in /usr/lib/cni /opt/cni/bin ''; do [[ -x $CNI_BIN/bridge ]] && break; done
  [[ $CNI_BIN ]] || die "no CNI plugins in /usr/lib/cni or /opt/cni/bin"
}

# node_network: the bridge of the pods, its routes and iptables rules; notes what down has to put back.
node_network() {
  # What the node will change on this machine, so that down can put it back.
  for name in net.ipv4.ip_forward net.bridge.bridge-nf-call-iptables net.ipv4.conf.all.route_localnet vm.overcommit_memory \
    vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes; do
    sysctl "$name" >>"$DIR/sysctl" 2>/dev/null || true
  done
  for name in /var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers /run/containerd/s /run/containerd; do
    [[ -e $name ]] || echo "$name" >>"$DIR/host-dirs"
  done
  if iptables-save | grep -q '^:CNI-'; then touch "$DIR/foreign-cni"; fi
  # The bridge of the pods carries the node's address too: nothing listens on the network outside.
  # down takes away what this mark says is ours, and nothing of another node's.
  touch "$DIR/has-network"
  ip link add "$BRIDGE" type bridge || { rm "$DIR/has-network" && die "another cluster of level node has just started on this machine"; }
  ip addr add "$POD_NET.0.1/24" dev "$BRIDGE"
  ip link set "$BRIDGE" up
  ip route add "$SVC_NET.0.0/16" dev "$BRIDGE"
  sysctl -qw net.ipv4.ip_forward=1
  sysctl -qw net.bridge.bridge-nf-call-iptables=1 2>/dev/null || { modprobe br_netfilter && sysctl -qw net.bridge.bridge-nf-call-iptables=1; } ||
    die "the kernel lacks br_netfilter"
  # Accept the pods' traffic whatever the policies of FORWARD and INPUT (Docker and firewalls set them to DROP).
  iptables-restore --noflush <<RULES
*filter
:WEIRNODE-FORWARD - [0:0]
:WEIRNODE-INPUT - [0:0]
-A WEIRNODE-FORWARD -i $BRIDGE -j ACCEPT
-A WEIRNODE-FORWARD -o $BRIDGE -m conntrack --ctstate RELATED,ESTABLISHED,DNAT -j ACCEPT
-A WEIRNODE-INPUT -i $BRIDGE -j ACCEPT
-I FORWARD 1 -j WEIRNODE-FORWARD
-I INPUT 1 -j WEIRNODE-INPUT
COMMIT
*nat
:WEIRNODE-POSTROUTING - [0:0]
-A WEIRNODE-POSTROUTING -s $POD_NET.0.0/16 ! -o $BRIDGE -j MASQUERADE
-I POSTROUTING 1 -j WEIRNODE-POSTROUTING
COMMIT
RULES
}

# containerd_config: restrict_oom_score_adj is for machines whose root may not raise its limits.
containerd_config() {
  mkdir -p "$DIR/etc/cni"
  cat >"$DIR/etc/cni/weir.conflist" <<JSON
{"cniVersion": "1.0.0", "name": "weir", "plugins": [
  {"type": "bridge", "bridge": "$BRIDGE", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$DIR/ipam", "ranges": [[{"subnet": "$POD_NET.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
  cat >"$DIR/etc/containerd.toml" <<TOML
version = 2
root = "$DIR/containerd"
state = "$DIR/run"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "$DIR/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$DIR/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/weir/pause:1"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      Root = "$DIR/runc"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$CNI_BIN"
    conf_dir = "$DIR/etc/cni"
TOML
}

# kubelet_config: oomScoreAdj and maxOpenFiles are for machines whose root may not raise its limits.
kubelet_config() {
  local files resolv
  files=$(ulimit -Hn)
  [[ $files =~ ^[0-9]+$ ]] && ((files < 1000000)) || files=1000000
  resolv=/etc/resolv.conf
  if ! grep -E '^nameserver' $resolv | grep -qvE '[[:space:]](127\.|::1)'; then
    resolv=/run/systemd/resolve/resolv.conf
    [[ -e $resolv ]] || { resolv=$DIR/etc/resolv.conf && echo 'nameserver 192.0.2.53' >"$resolv"; }
  fi
  cat >"$DIR/etc/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $POD_NET.0.1
port: ${port[kubelet]}
healthzPort: ${port[kubelet-health]}
authentication: {x509: {clientCAFile: $P/ca.crt}}
tlsCertFile: $P/kubelet.crt
tlsPrivateKeyFile: $P/kubelet.key
containerRuntimeEndpoint: unix://$DIR/containerd.sock
cgroupDriver: cgroupfs
clusterDNS: [$SVC_NET.0.10]
clusterDomain: cluster.local
resolvConf: $resolv
podLogsDir: $DIR/pod-logs
volumePluginDir: $DIR/volume-plugins
failSwapOn: false
enforceNodeAllocatable: []
oomScoreAdj: 0
maxOpenFiles: $files
syncFrequency: 5s
# No registry: an image that the kubelet throws away does not come back.
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 100Mi, nodefs.available: 1Gi, imagefs.available: 1Gi}
YAML
}

# proxy_config: of kube-proxy.
proxy_config() {
  cat >"$DIR/etc/kube-proxy.yaml" <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: $P/kube-proxy.kubeconfig}
hostnameOverride: $NODE
clusterCIDR: $POD_NET.0.0/16
mode: iptables
iptables: {minSyncPeriod: 50ms, localhostNodePorts: false}
nodePortAddresses: [$POD_NET.0.0/16]
conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
healthzBindAddress: 127.0.0.1:${port[proxy-health]}
metricsBindAddress: 127.0.0.1:${port[proxy-metrics]}
oomScoreAdj: 0
YAML
}

# image NAME PROGRAM: an image of that static program alone, into the cluster's containerd.
image() {
  local work arch
  work=$(mktemp -d "$DIR/image.XXXXXX")
  arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
  tar -C "$(dirname "$2")" --owner=0 --group=0 -cf "$work/layer.tar" "$(basename "$2")"
  printf '{"architecture":"%s","os":"linux","config":{"Entrypoint":["/%s"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$arch" "$(basename "$2")" "$(sha256sum "$work/layer.tar" | cut -d' ' -f1)" >"$work/config.json"
  printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$1" >"$work/manifest.json"
  tar -C "$work" -cf - manifest.json config.json layer.tar | ctr images import - >/dev/null
  rm -rf "$work"
}

# node_start: containerd, kubelet, kube-proxy, and what runs in pods.
node_start() {
  containerd_config
  kubelet_config
  proxy_config
  kubeconfig kubelet >"$P/kubelet.kubeconfig"
  cert kube-proxy /CN=system:kube-proxy
  kubeconfig kube-proxy >"$P/kube-proxy.kubeconfig"
  start containerd containerd --config "$DIR/etc/containerd.toml" --log-level warn
  wait_for 60 containerd ctr version
  image docker.io/weir/pause:1 "$BIN/pause"
  image docker.io/weir/coredns:1 "$BIN/coredns"
  [[ -z $metrics ]] || image docker.io/weir/metrics-server:1 "$BIN/metrics-server"
  start kubelet "$BIN/kubelet" --config "$DIR/etc/kubelet.yaml" --kubeconfig "$P/kubelet.kubeconfig" --hostname-override "$NODE" \
    --node-ip "$POD_NET.0.1" --root-dir "$DIR/kubelet" --cert-dir "$DIR/kubelet/pki" --containerd "$DIR/containerd.sock"
  start kube-proxy "$BIN/kube-proxy" --config "$DIR/etc/kube-proxy.yaml"
  apply dns
  [[ -z $metrics ]] || apply metrics
}

# A DNS query for kube-dns.kube-system.svc.cluster.local, answered without error and with an address.
# (Not for kubernetes.default: bash would send a datagram of its own after each byte 10, that name's length.)
dns_answers() {
  local answer
  answer=$(timeout 1 bash -c "exec 3<>/dev/udp/$SVC_NET.0.10/53
    printf 'wr\1\0\0\1\0\0\0\0\0\0\10kube-dns\13kube-system\3svc\7cluster\5local\0\0\1\0\1' >&3
    dd bs=512 count=1 <&3 2>/dev/null" | od -An -tx1 -N8 | tr -d ' ')
  [[ $answer == 7772???0????0001 ]]
}
