/**
 * Who reaches the ports of a swarm: its members, and nobody else. The packets of overlay networks carry no proof of who sent
 * them, so neither strangers nor containers may send any. A table of our own drops the rest; where the server is hardened,
 * its firewall reads from a file of ours what it accepts. The same holds for the ports of replicas, which Docker leads around the
 * firewall: a proxy of a member may ask there, and nobody else.
 */
import { swarmPorts } from '../../adapters/docker/swarm.ts';
import { minute } from '../../clock.ts';
import type { Remote } from '../../remote/remote.ts';
import { nftTable, nftUnit } from '../../remote/units/nft-table.ts';
import { replicaPorts } from '../placement.ts';

const table = 'inet slipway_cluster';
const file = '/etc/slipway/cluster-network.nft';
/** `hardening/steps/network.ts` includes what is in this folder. */
const accepted = '/etc/slipway/cluster.d/members.nft';
/** And what is in this one for what Docker publishes. */
const published = '/etc/slipway/cluster.d/published/members.nft';
const unit = 'slipway-cluster-network.service';
const header = '# Written by Slipway, and written again when it is changed.\n';

const replicas = `${replicaPorts.first}-${replicaPorts.last}`;
const tcp = `tcp dport { ${swarmPorts.tcp.join(', ')}, ${replicas} }`;
const udp = `udp dport { ${swarmPorts.udp.join(', ')} }`;

function rulesFor(members: readonly string[]): string {
  const all = members.join(', ');
  return `  chain input {
    type filter hook input priority filter - 10; policy accept;
    iif "lo" accept
    ip saddr { ${all} } accept
    ${tcp} drop
    ${udp} drop
  }
  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    ct direction original ct status dnat ct original proto-dst ${replicas} ip saddr != { ${all} } drop
    ip daddr { ${all} } ${tcp} drop
    ip daddr { ${all} } ${udp} drop
  }
`;
}

/** The addresses are of our own reading, one form each; sorted, so that the same members are the same file. */
export async function ensureMemberRules(
  remote: Remote,
  members: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const sorted = [...members].sort();
  const accepts = `ip saddr { ${sorted.join(', ')} } ${tcp} accept\nip saddr { ${sorted.join(', ')} } ${udp} accept\n`;
  const returns = `ct status dnat ct original proto-dst ${replicas} ip saddr { ${sorted.join(', ')} } return\n`;
  const args = [
    ...[file, `${header}${nftTable(table, rulesFor(sorted))}`],
    ...[accepted, `${header}${accepts}`],
    ...[published, `${header}${returns}`],
    ...[unit, `${header}${nftUnit('Who reaches the ports of the swarm, as Slipway has it', file, table)}`],
  ];
  await remote.script(ensureScript, args, { signal, timeoutMs: 2 * minute });
}

const ensureScript = `
file=$1 text=$2 accepted=$3 accepts=$4 published=$5 returns=$6 unit=$7 unit_text=$8
unit_file=/etc/systemd/system/$unit
same() { printf %s "$2" | cmp -s - "$1"; }
if same "$file" "$text" && same "$accepted" "$accepts" && same "$published" "$returns" && same "$unit_file" "$unit_text" \\
  && systemctl is-enabled --quiet "$unit" && nft list table ${table} > /dev/null 2>&1; then
  exit 0
fi
umask 022
mkdir -p "$(dirname "$accepted")" "$(dirname "$published")"
put() { draft=$(mktemp "$1.XXXXXX"); printf %s "$2" > "$draft"; chmod 644 "$draft"; sync "$draft"; mv -fT "$draft" "$1"; }
put "$file" "$text"
put "$accepted" "$accepts"
put "$published" "$returns"
put "$unit_file" "$unit_text"
systemctl daemon-reload
systemctl enable --quiet "$unit"
systemctl reload-or-restart "$unit"
for each in slipway-firewall slipway-docker-ports; do
  if systemctl is-active --quiet "$each.service"; then systemctl reload "$each.service"; fi
done
`;

export async function removeMemberRules(remote: Remote, signal: AbortSignal): Promise<void> {
  await remote.script(removeScript, [unit, file, accepted, published], { signal });
}

const removeScript = `
systemctl disable --now --quiet "$1" 2> /dev/null || :
rm -f "/etc/systemd/system/$1" "$2" "$3" "$4"
rmdir "$(dirname "$4")" "$(dirname "$3")" 2> /dev/null || :
systemctl daemon-reload
nft delete table ${table} 2> /dev/null || :
for each in slipway-firewall slipway-docker-ports; do
  if systemctl is-active --quiet "$each.service"; then systemctl reload "$each.service"; fi
done
`;
