#!/bin/sh
# Creates the user and tells systemd of the unit. It starts nothing: a deployment has to be
# created first, with 'countersign init'. deb calls it with "configure", rpm with a number.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers countersign.conf
elif ! getent passwd countersign >/dev/null; then
	useradd --system --home-dir /var/lib/countersign --no-create-home --shell /usr/sbin/nologin --comment Countersign countersign
fi
if [ ! -e /var/lib/countersign ]; then
	install -d -m 700 -o countersign -g countersign /var/lib/countersign
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart countersign.service
fi
