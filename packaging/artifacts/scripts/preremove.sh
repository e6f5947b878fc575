#!/bin/sh
# Stops the service before the package is removed, and not before an upgrade. deb calls it with
# "remove" or "upgrade", rpm with the number of versions that stay.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl --no-reload disable --now countersign.service
	fi
	;;
esac
