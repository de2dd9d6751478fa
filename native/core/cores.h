#pragma once

namespace dcpscope {

/** Cores that this process may run on. */
int usableCores();

}  // namespace dcpscope
