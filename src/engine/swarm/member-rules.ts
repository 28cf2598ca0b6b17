/**
 * Who reaches the ports of a swarm: its members, and nobody else. The packets of overlay networks carry no proof of who sent
 * them, so neither strangers nor containers may send any. A table of our own drops the rest; where the server is hardened,
 * its firewall reads from a file of ours what it accepts.
 */
import { swarmPorts } from '../../adapters/docker/swarm.ts';
import { minute } from '../../clock.ts';
import type { Remote } from '../../remote/remote.ts';
import { nftTable, nftUnit } from '../../remote/units/nft-table.ts';

const table = 'inet slipway_cluster';
const file = '/etc/slipway/cluster-network.nft';
/** `hardening/steps/network.ts` includes what is in this folder. */
const accepted = '/etc/slipway/cluster.d/members.nft';
const unit = 'slipway-cluster-network.service';
const header = '# Written by Slipway, and written again when it is changed.\n';

const tcp = `tcp dport { ${swarmPorts.tcp.join(', ')} }`;
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
  const args = [
    ...[file, `${header}${nftTable(table, rulesFor(sorted))}`],
    ...[accepted, `${header}${accepts}`],
    ...[unit, `${header}${nftUnit('Who reaches the ports of the swarm, as Slipway has it', file, table)}`],
  ];
  await remote.script(ensureScript, args, { signal, timeoutMs: 2 * minute });
}

const ensureScript = `
file=$1 text=$2 accepted=$3 accepts=$4 unit=$5 unit_text=$6
unit_file=/etc/systemd/system/$unit
same() { printf %s "$2" | cmp -s - "$1"; }
if same "$file" "$text" && same "$accepted" "$accepts" && same "$unit_file" "$unit_text" \\
  && systemctl is-enabled --quiet "$unit" && nft list table ${table} > /dev/null 2>&1; then
  exit 0
fi
umask 022
mkdir -p "$(dirname "$accepted")"
put() { draft=$(mktemp "$1.XXXXXX"); printf %s "$2" > "$draft"; chmod 644 "$draft"; sync "$draft"; mv -fT "$draft" "$1"; }
put "$file" "$text"
put "$accepted" "$accepts"
put "$unit_file" "$unit_text"
systemctl daemon-reload
systemctl enable --quiet "$unit"
systemctl reload-or-restart "$unit"
if systemctl is-active --quiet slipway-firewall.service; then systemctl reload slipway-firewall.service; fi
`;

export async function removeMemberRules(remote: Remote, signal: AbortSignal): Promise<void> {
  await remote.script(removeScript, [unit, file, accepted], { signal });
}

const removeScript = `
systemctl disable --now --quiet "$1" 2> /dev/null || :
rm -f "/etc/systemd/system/$1" "$2" "$3"
rmdir "$(dirname "$3")" 2> /dev/null || :
systemctl daemon-reload
nft delete table ${table} 2> /dev/null || :
if systemctl is-active --quiet slipway-firewall.service; then systemctl reload slipway-firewall.service; fi
`;
