#include "../none.h"
