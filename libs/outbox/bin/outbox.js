#!/usr/bin/env node
// Stands here, and not in dist, so that npm finds it before anything is built.
import '../dist/cli/main.js';
