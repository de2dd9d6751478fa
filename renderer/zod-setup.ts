import { z } from 'zod'

// The page's policy forbids code from text, which zod would try at its first parse. This module is imported first.
z.config({ jitless: true })
