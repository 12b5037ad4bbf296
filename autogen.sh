#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes configure and Makefile.in from configure.ac and Makefile.am (a git checkout has neither).
cd "$(dirname "$0")" && exec autoreconf --force --install "$@"
