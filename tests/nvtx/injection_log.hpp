#pragma once

#include <string>

#include <nvtx3/nvToolsExt.h>

#include "injection.hpp"

// What the parts of the injection library share.
namespace injection {

void write(std::string const& what);

// The domain's name and a colon.
std::string name_of(nvtxDomainHandle_t domain);

// A registered string as it is written down for an event of this domain.
std::string text_of(nvtxDomainHandle_t domain, nvtxStringHandle_t string);

ability able();

}  // namespace injection
