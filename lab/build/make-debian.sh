# A minimal Debian, up to date, with its security and update suites. Arguments: suite, folder.
# Runs in a mount namespace of its own.
suite=$1
tree=$2

eatmydata debootstrap --variant=minbase --include=ca-certificates "$suite" "$tree"

# Whatever mirror the machine's debootstrap chose, its security archive lies beside it.
mirror=$(sed -n 's/^deb \([^ ]*\) .*/\1/p' "$tree/etc/apt/sources.list" | head -n 1)
mirror=${mirror%/}
cat > "$tree/etc/apt/sources.list" <<LIST
deb $mirror $suite main
deb $mirror $suite-updates main
deb $mirror-security $suite-security main
LIST
# Nothing here has to survive a power failure.
echo force-unsafe-io > "$tree/etc/dpkg/dpkg.cfg.d/lab"
printf 'Acquire::Languages "none";\nAPT::Install-Recommends "false";\n' > "$tree/etc/apt/apt.conf.d/90lab"

mount -t proc proc "$tree/proc"
mount --bind /dev "$tree/dev"
mount --bind /etc/resolv.conf "$tree/etc/resolv.conf"
chroot "$tree" apt-get update --quiet
chroot "$tree" apt-get dist-upgrade --yes --quiet
chroot "$tree" apt-get clean
umount "$tree/proc" "$tree/dev" "$tree/etc/resolv.conf"
