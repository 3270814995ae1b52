#!/usr/bin/env node
import '../cairn.js'
