/**
 * A table of nftables that is ours alone, and the unit that loads it before the network is up. Rules in it hold beside
 * those of iptables of either kind, ufw and Docker: a drop or a reject is final, whatever other tables say, and nobody
 * who rewrites theirs touches it. Who starts `nftables.service` flushes everything; the unit is then loaded again.
 */

/** Replaces the table in one transaction: there is no moment without it. */
export function nftTable(table: string, body: string): string {
  return `table ${table} {}\ndelete table ${table}\ntable ${table} {\n${body}}\n`;
}

export function nftUnit(description: string, file: string, table: string): string {
  return `[Unit]
Description=${description}
DefaultDependencies=no
After=local-fs.target nftables.service
Before=network-pre.target shutdown.target
Wants=network-pre.target
Conflicts=shutdown.target
PartOf=nftables.service
ReloadPropagatedFrom=nftables.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/nft -f ${file}
ExecReload=/usr/sbin/nft -f ${file}
ExecStop=-/usr/sbin/nft delete table ${table}

[Install]
WantedBy=sysinit.target
`;
}
