#!/usr/bin/env node
// Not built, so that the package manager finds it and links the command at install time, before the first build.
await import('../dist/roost.js');
