#!/bin/sh
# Never removes keys, stores or passphrases, not even on a purge: the user and
# /var/lib/countersign stay: their owner moves or destroys the secrets in it.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
if [ "$1" = purge ] && [ -e /var/lib/countersign ]; then
	echo "countersign: /var/lib/countersign stays, with its keys; remove it yourself if nothing needs them" >&2
fi
