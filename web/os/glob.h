#include "none.h"
